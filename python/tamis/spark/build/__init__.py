"""Build versions of an index on Spark: from a table of rules, or as a delta upon another version.

| module | contents |
| --- | --- |
| `index` | public: `build_index` |
| `changes`, `compaction` | public: `apply_changes`, `compact` |
| `version` | builds all shards of a version and writes its manifest |
| `shard_builder` | the task that builds one shard |
| `event_sample` | the sample of past events that shards are optimized for |
| `temporary_index` | an index that is removed when the process ends |
"""
