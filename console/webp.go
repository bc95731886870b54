package console

import "encoding/binary"

// webpSize reads the size of a WebP image from its header (RFC 9649): a RIFF container
// whose first chunk is a lossy image, a lossless one, or a description of what follows.
func webpSize(data []byte) (width, height int, ok bool) {
	const container, chunk = 12, 8 // "RIFF" size "WEBP", name size
	if len(data) < container+chunk || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0, false
	}
	length := uint64(binary.LittleEndian.Uint32(data[4:])) + chunk
	size := uint64(binary.LittleEndian.Uint32(data[16:]))
	if length > uint64(len(data)) || container+chunk+size > length {
		return 0, 0, false // it is cut off, or its parts do not fit into each other
	}
	payload := data[container+chunk:][:size]
	switch string(data[12:16]) {
	case "VP8 ":
		width, height, ok = lossySize(payload)
	case "VP8L":
		width, height, ok = losslessSize(payload)
	case "VP8X":
		width, height, ok = extendedSize(payload)
	}
	return width, height, ok && width > 0 && height > 0
}

// lossySize reads a VP8 frame header (RFC 6386 section 9.1), of a key frame.
func lossySize(b []byte) (width, height int, ok bool) {
	if len(b) < 10 || b[0]&1 != 0 || string(b[3:6]) != "\x9d\x01\x2a" {
		return 0, 0, false
	}
	const size = 1<<14 - 1 // the two bits above are a scale
	return int(binary.LittleEndian.Uint16(b[6:]) & size), int(binary.LittleEndian.Uint16(b[8:]) & size), true
}

// losslessSize reads an image header (RFC 9649 section 3.4): a signature, then 14 bits
// of width and of height, each less one, whether there is alpha, and version 0.
func losslessSize(b []byte) (width, height int, ok bool) {
	if len(b) < 5 || b[0] != 0x2f || b[4]>>5 != 0 {
		return 0, 0, false
	}
	bits := binary.LittleEndian.Uint32(b[1:])
	return int(bits&(1<<14-1)) + 1, int(bits>>14&(1<<14-1)) + 1, true
}

// extendedSize reads the canvas of the extended form (RFC 9649 section 2.7).
func extendedSize(b []byte) (width, height int, ok bool) {
	if len(b) < 10 {
		return 0, 0, false
	}
	lessOne := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	return lessOne(b[4:]) + 1, lessOne(b[7:]) + 1, true
}
