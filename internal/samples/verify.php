<?php
// isValid reports whether the raw body was signed with the secret within 300 seconds of $now.
function isValid(string $header, string $body, string $secret, int $now): bool
{
    $times = $signatures = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = explode('=', $part, 2) + [1 => ''];
        if ($name === 't') $times[] = $value;
        if ($name === 'v1') $signatures[] = $value;
    }
    if (count($times) !== 1 || !ctype_digit($times[0]) || abs($now - (int) $times[0]) > 300) return false;
    $expected = hash_hmac('sha256', $times[0] . '.' . $body, $secret);
    foreach ($signatures as $given) {
        if (hash_equals($expected, $given)) return true;
    }
    return false;
}

if (isset($argv[1])) { // php verify.php HEADER < body
    exit(isValid($argv[1], file_get_contents('php://stdin'), getenv('WEBHOOK_SECRET'), time()) ? 0 : 1);
}
