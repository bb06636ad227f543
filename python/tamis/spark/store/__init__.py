"""The store of an index: immutable versions in a folder, and a pointer to the current one.

| module | contents |
| --- | --- |
| `versions` | public functions: open, publish, vacuum, read the quarantine |
| `version_files` | the same on files, without Spark: list, reserve, commit, sweep |
| `manifest` | what a version consists of, and `IndexRef`, a reference to a version |
| `folder`, `uris` | files of a local folder or of an object store |
| `file_cache`, `file_lock` | local copies of remote files |
| `shard_cache` | the shards that a worker has open |
| `remote_call` | runs a function where the store is readable |
"""
