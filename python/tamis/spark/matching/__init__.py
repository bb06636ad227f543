"""Match events with an index on Spark.

| module | contents |
| --- | --- |
| `table`, `files`, `stream` | public: `match`, `match_files`, `match_stream` |
| `explain` | public: `explain` |
| `request` | the arguments that they share, checked |
| `job` | a request resolved for a table and an index: columns, schemas, tasks, merge of results |
| `task` | the task that workers run: batches of events in, matches out |
| `parquet_files` | finds Parquet files and divides them into tasks |
| `file_schema` | the columns of several files together |
| `partitions` | the columns that stand in the names of folders |
"""
