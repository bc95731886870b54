package console_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"mime/multipart"
	"net/textproto"
)

// upload is a form with an image.
type upload struct {
	kind, file string
	name       string // of the file; empty: image.png
	declared   string // its type; empty: image/png
}

// encode returns the body and its content type.
func (u upload) encode() (body, contentType string) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	must(form.WriteField("kind", u.kind))
	if u.name == "" {
		u.name = "image.png"
	}
	if u.declared == "" {
		u.declared = "image/png"
	}
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + u.name + `"`}, "Content-Type": {u.declared},
	})
	must(err)
	_, err = part.Write([]byte(u.file))
	must(err)
	must(form.Close())
	return b.String(), form.FormDataContentType()
}

// upload sends one of Ann's.
func (d *harness) upload(path string, u upload) response {
	d.Helper()
	body, contentType := u.encode()
	return d.send(call{what: "POST " + path + "/assets", by: ann, body: body, contentType: contentType})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func picture(width, height int) image.Image { return image.NewGray(image.Rect(0, 0, width, height)) }

func pngOf(width, height int) string {
	var b bytes.Buffer
	must(png.Encode(&b, picture(width, height)))
	return b.String()
}

func jpegOf(width, height int) string {
	var b bytes.Buffer
	must(jpeg.Encode(&b, picture(width, height), nil))
	return b.String()
}

// pngClaiming is a PNG that says it has that size, and nothing else.
func pngClaiming(width, height uint32) string {
	header := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	header = append(binary.BigEndian.AppendUint32(header, height), 8, 0, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	return string(binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(header)))
}

// webpOf wraps the payload of a chunk.
func webpOf(chunk, payload string) string {
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len("WEBP")+8+len(payload)))
	file = append(append(file, "WEBP"...), chunk...)
	return string(binary.LittleEndian.AppendUint32(file, uint32(len(payload)))) + payload
}

func webpLossy(width, height uint16) string {
	payload := binary.LittleEndian.AppendUint16([]byte("\x10\x00\x00\x9d\x01\x2a"), width)
	return webpOf("VP8 ", string(binary.LittleEndian.AppendUint16(payload, height))+"\x00\x00")
}

func webpLossless(width, height uint32) string {
	return webpOf("VP8L", string(binary.LittleEndian.AppendUint32([]byte{0x2f}, (width-1)|(height-1)<<14))+"\x00")
}

func webpExtended(width, height uint32) string {
	lessOne := func(n uint32) string { return string([]byte{byte(n - 1), byte((n - 1) >> 8), byte((n - 1) >> 16)}) }
	return webpOf("VP8X", "\x10\x00\x00\x00"+lessOne(width)+lessOne(height))
}
