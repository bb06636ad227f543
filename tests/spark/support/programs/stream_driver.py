"""A driver that tests kill: `python stream_driver.py MASTER FOLDER TRIGGER` matches a stream.

The stream reads the files of FOLDER/in. TRIGGER is `forever`, or `available` to end after all files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tamis.spark import local_session, match_stream


def main() -> None:
    """Run until done, or until killed."""
    master, folder, trigger = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    spark = local_session(master, settings={"spark.sql.shuffle.partitions": "2"})
    print("application", spark.sparkContext.applicationId, flush=True)
    stream = (
        spark.readStream.schema("event_id bigint, event string")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "in"))
    )
    query = match_stream(
        stream,
        index_uri=folder / "store",
        out=folder / "out",
        checkpoint=folder / "checkpoint",
        trigger={"availableNow": True} if trigger == "available" else {"processingTime": "0 seconds"},
        output="array",
    )
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
