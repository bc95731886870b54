import hashlib, hmac, os, sys, time


def is_valid(header, body, secret, now):
    """Reports whether the raw body was signed with the secret within 300 seconds of now."""
    values = [part.partition("=") for part in header.split(",")]
    times = [value for name, _, value in values if name == "t"]
    if len(times) != 1 or not times[0].isdigit() or abs(now - int(times[0])) > 300:
        return False
    expected = hmac.new(secret.encode(), times[0].encode() + b"." + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(expected, value) for name, _, value in values if name == "v1")


if __name__ == "__main__":  # verify.py HEADER < body
    valid = is_valid(sys.argv[1], sys.stdin.buffer.read(), os.environ["WEBHOOK_SECRET"], time.time())
    sys.exit(0 if valid else 1)
