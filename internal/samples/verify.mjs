import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

// isValid reports whether the raw body, a Buffer, was signed with the secret within 300
// seconds of now.
export function isValid(header, body, secret, now) {
  const values = header.split(",").map((part) => part.split("="));
  const times = values.filter(([name]) => name === "t").map(([, value]) => value);
  if (times.length !== 1 || !/^\d+$/.test(times[0]) || Math.abs(now - Number(times[0])) > 300) return false;
  const expected = createHmac("sha256", secret).update(times[0] + ".").update(body).digest();
  return values.some(([name, value]) => {
    const given = Buffer.from(name === "v1" ? value : "", "hex");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

if (process.argv[2] !== undefined) { // node verify.mjs HEADER < body
  const valid = isValid(process.argv[2], readFileSync(0), process.env.WEBHOOK_SECRET, Date.now() / 1000);
  process.exit(valid ? 0 : 1);
}
