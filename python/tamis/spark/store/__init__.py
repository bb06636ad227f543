"""The store of an index: immutable versions in a folder, and a pointer to the current one.

| module | contents |
| --- | --- |
| `versions` | public functions: open, publish, vacuum, read the quarantine |
| `version_files` | the same on files, without Spark: list, reserve, commit, sweep |
| `store_lock` | one process at a time commits and publishes |
| `manifest` | what a version consists of, and `IndexRef`, a reference to a version |
| `manifest_fields` | checks every field of a manifest |
| `folder`, `uris` | files of a local folder or of an object store |
| `outputs` | checks that output does not overlap what is read |
| `file_cache`, `file_lock` | local copies of remote files |
| `shard_cache` | the shards that a worker has open |
| `remote_call` | runs a function where the store is readable |
"""
