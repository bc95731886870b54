package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/secret"
)

// CON-10: every kind is masked at any position, complete or truncated; other text stays.
func TestMask(t *testing.T) {
	t.Parallel()
	for _, kind := range secret.Kinds {
		text := secret.New(kind).Reveal()
		body := strings.TrimPrefix(text, string(kind))
		for _, around := range []string{"%", `{"message": "no token %"}`, "https://x.example/?token=%&a=b", "Bearer %", "%%", "x%.", "%\n%"} {
			masked := secret.Mask(strings.ReplaceAll(around, "%", text))
			if strings.Contains(masked, body) || strings.Contains(masked, body[:6]) || !strings.Contains(masked, string(kind)+"[secret]") {
				t.Errorf("%s in %q became %q", kind, around, masked)
			}
		}
		if cut := secret.Mask(text[:len(text)-20]); cut != string(kind)+"[secret]" {
			t.Errorf("cut off: %q", cut)
		}
	}
	token := secret.New(secret.AccessToken).Reveal()
	for text, want := range map[string]string{
		"code BCDF-GHJK.":                                     "code [secret].",
		"code_bcdf-ghjk, BCDF-GHJK":                           "code_[secret], [secret]",
		"a eyJhbGciOiJSUzI1NiJ9.eyJzdWIi.c2ln!":               "a eyJ[secret]!",
		token + "\nhello, " + token[:20] + "\r\n\r\n" + token: "pk_at_[secret]\nhello, pk_at_[secret]",
		"Basic YXBwOnBhc3N3b3Jk, Basic plans":                 "Basic [secret], Basic plans",
		"inv_06g5plpa01o015r0g79mgnmm4c":                      "inv_06g5plpa01o015r0g79mgnmm4c",
		"pk_at_":                                              "pk_at_",
		`{"message":"scope invoices:read"}`:                   `{"message":"scope invoices:read"}`,
		"":                                                    "",
		`{"a":"C:\\new\\u0041","b":"100%25 of \u00fc &#252;"}`:                       `{"a":"C:\\new\\u0041","b":"100%25 of \u00fc &#252;"}`,
		"the very-long-host-name-of-a-service.eu-central-1.compute.internal.example": "the very-long-host-name-of-a-service.eu-central-1.compute.internal.example",
		"com.example.accounting.InvoiceController.handleCreateInvoice":               "com.example.accounting.InvoiceController.handleCreateInvoice",
		"req_06g5plpa01o015r0g79mgnmm4c\ninv_06g5plpa01o015r0g79mgnmm4c":             "req_06g5plpa01o015r0g79mgnmm4c\ninv_06g5plpa01o015r0g79mgnmm4c",
		"at 123e4567-e89b-12d3-a456-426614174000.":                                   "at 123e4567-e89b-12d3-a456-426614174000.",
	} {
		if got := secret.Mask(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// everyByte escapes each byte of a text.
func everyByte(format, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // never fails for a string
	return string(b)
}

// encodings are the ways in which a secret can stand in a text.
var encodings = map[string]func(string) string{
	"in a URL":            url.QueryEscape,
	"underscores in URLs": func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "_", "%5F") },
	"lower case in URLs":  func(s string) string { return strings.ReplaceAll(s, "_", "%5f") },
	"all of it in a URL":  func(s string) string { return everyByte("%%%02X", s) },
	"in a URL in a URL":   func(s string) string { return url.QueryEscape(everyByte("%%%02x", s)) },
	"in JSON":             func(s string) string { return quoted(s + "\"\\/\n") },
	"in JSON, escaped":    func(s string) string { return everyByte(`\u%04x`, s) },
	"in JSON in JSON":     func(s string) string { return quoted(quoted("\n" + s[:20] + "\n" + s[20:])) },
	"slashes in JSON":     func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
	"quoted in Go":        func(s string) string { return everyByte(`\x%02x`, s) },
	"in HTML":             func(s string) string { return html.EscapeString(strings.ReplaceAll(s, "+", "&#43;")) },
	"all of it in HTML":   func(s string) string { return everyByte("&#x%x;", s) },
	"broken":              func(s string) string { return s[:12] + "\n" + s[12:] },
	"broken twice":        func(s string) string { return s[:12] + "\r\n  " + s[12:30] + "\n\t" + s[30:] },
	"broken at once":      func(s string) string { return s[:2] + "\n" + s[2:] },
	"broken in JSON":      func(s string) string { return s[:12] + `\n` + s[12:] },
	"broken in a URL":     func(s string) string { return s[:12] + "%0D%0A" + s[12:] },
	"base64":              func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"Basic credentials":   func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("app_1:"+s)) },
	"base64 of URLs":      func(s string) string { return base64.URLEncoding.EncodeToString([]byte("app_12:" + s)) },
	"unpadded base64":     func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("a:" + s + ">>>???")) },
	"base64 in a URL": func(s string) string {
		return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("app_1:" + s + ">>?")))
	},
	"base64 in JSON": func(s string) string {
		return strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte("??"+s)), "/", `\/`)
	},
	"base64 of an encoded pair": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte("https%3A%2F%2Fa.example%2Fx:" + s))
	},
	"base64 in lines": func(s string) string {
		all := base64.StdEncoding.EncodeToString([]byte("application:" + s))
		return all[:20] + "\r\n" + all[20:50] + "\r\n" + all[50:]
	},
}

// CON-10: every kind is masked in every encoding, and not the text around it.
func TestMaskEncoded_CON10(t *testing.T) {
	t.Parallel()
	secrets := map[string]string{
		"webhook secret of before": "whsec_ab+/cd+/efgh/ijklmnopqrstuv+wxyzABCDEFGHIJK=",
		"session token":            "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfYWRhIn0." + strings.Repeat("s1G-_", 17) + "x",
	}
	for _, kind := range secret.Kinds {
		secrets[string(kind)] = secret.New(kind).Reveal()
	}
	for name, text := range secrets {
		for how, encode := range encodings {
			isBase64 := strings.Contains(how, "ase64") || how == "Basic credentials"
			if name == "session token" && isBase64 {
				continue
			}
			encoded := encode(text)
			masked := secret.Mask(`{"message": "no ` + encoded + ` here"}`)
			if !strings.HasPrefix(masked, `{"message": "no `) || !strings.HasSuffix(masked, ` here"}`) || !strings.Contains(masked, "[secret]") {
				t.Errorf("%s, %s: %q became %q", name, how, encoded, masked)
			}
			first := 8 // of what is secret
			if isBase64 {
				first = 24
			}
			for i := first; i+8 <= len(encoded)-6; i++ {
				if strings.Contains(masked, encoded[i:i+8]) {
					t.Errorf("%s, %s: %q became %q with %q", name, how, encoded, masked, encoded[i:i+8])
					break
				}
			}
		}
	}
}

// CON-10: a PKCE verifier has no prefix; its length and its characters tell it.
func TestMaskVerifiers_CON10(t *testing.T) {
	t.Parallel()
	for _, verifier := range []string{
		"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", // RFC 7636
		strings.Repeat("v", 43), strings.Repeat("Ab1-._~", 18),
		"3f786850e387550fdab836ed7e6dc881de23001b4c5b6a7d8e9f0a1b2c3d4e5f",
		"M25iVXpKU3puUjFaYWg3T1NDTDQtcW1ROUY5YXlwalNoc0hhakxifmZHag",
	} {
		for _, around := range []string{"%", `{"message": "unknown member %"}`, "a=%&b", "/invoices/%/lines", `\"%\"`, "(%).", "%\n%"} {
			masked := secret.Mask(strings.ReplaceAll(around, "%", verifier))
			if strings.Contains(masked, verifier[:20]) || strings.Contains(masked, verifier[20:40]) || masked != strings.ReplaceAll(around, "%", "[secret]") && around != "(%)." {
				t.Errorf("%q in %q became %q", verifier, around, masked)
			}
		}
		if issued := secret.MaskIssued(verifier); issued != verifier {
			t.Errorf("MaskIssued(%q) = %q", verifier, issued)
		}
	}
	words := "four-words-and-more-words-and-even-more-words"
	for _, before := range []string{"code_verifier=", `{"code_verifier": "`, `{\"code_verifier\":\"`, "code_verifier%3D"} {
		if masked := secret.Mask(before + words); strings.Contains(masked, "words") || !strings.HasPrefix(masked, before[:12]) {
			t.Errorf("%q became %q", before+words, masked)
		}
	}
	if masked := secret.Mask(words); masked != words {
		t.Errorf("%q became %q", words, masked)
	}
}

func FuzzMask(f *testing.F) {
	token := secret.New(secret.ClientSecret).Reveal()
	for _, encode := range encodings {
		f.Add("a "+encode(token)+" b", uint(3))
	}
	f.Add("%25252525255F&#x&#1114112;\\ud800\\'\\q%", uint(0))
	f.Fuzz(func(t *testing.T, around string, at uint) {
		text := around[:at%uint(len(around)+1)] + " " + token + " " + around[at%uint(len(around)+1):]
		if masked := secret.Mask(text); strings.Contains(masked, token[6:]) {
			t.Fatalf("%q became %q", text, masked)
		}
	})
}
