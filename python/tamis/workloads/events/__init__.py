"""Events of a workload, drawn as arrays (`rows`) and written as JSON, columns or maps (`layouts`)."""
