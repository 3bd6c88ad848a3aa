"""Files by digest in an object store that speaks S3: `python -m assay.fleet.objects s3://BUCKET/PREFIX`.

Credentials and the endpoint come from where boto3 finds them: AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL, ~/.aws.
"""

from __future__ import annotations

import sys
from typing import Any
from urllib.parse import urlsplit

from assay.fleet.lines import Document, FleetError, answer_lines

try:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as error:
    raise SystemExit(
        f"an artifact store in S3 needs Python's boto3 ({error}): pip install 'assay[s3]'"
    ) from error

NOT_THERE = ("404", "NoSuchKey", "NotFound")


class Objects:
    """One bucket, or a folder of it."""

    def __init__(self, reference: str) -> None:
        place = urlsplit(reference)
        self._bucket = place.netloc
        self._prefix = place.path.strip("/")
        self._client: Any = boto3.client("s3")

    def answer(self, request: Document) -> Document:
        """Answers `check`, `put` or `get`."""
        try:
            if "check" in request:
                self._client.head_bucket(Bucket=self._bucket)
            elif "put" in request:
                self._put(request["put"], request["file"])
            else:
                self._client.download_file(self._bucket, self._key(request["get"]), request["file"])
        except ClientError as error:
            raise _error_from_client(error, f"s3://{self._bucket}/{self._prefix}") from error
        except BotoCoreError as error:
            raise FleetError("unavailable", f"s3://{self._bucket}: {error}") from error
        return {}

    def _key(self, sha256: str) -> str:
        return f"{self._prefix}/{sha256}" if self._prefix else sha256

    def _put(self, sha256: str, file: str) -> None:
        try:
            self._client.head_object(Bucket=self._bucket, Key=self._key(sha256))
        except ClientError as error:
            if error.response["Error"]["Code"] not in NOT_THERE:
                raise
            self._client.upload_file(file, self._bucket, self._key(sha256))


def _error_from_client(error: ClientError, place: str) -> FleetError:
    is_absent = error.response["Error"]["Code"] in NOT_THERE
    return FleetError("not_found" if is_absent else "unavailable", f"{place}: {error}")


if __name__ == "__main__":
    answer_lines(Objects(sys.argv[1]).answer)
