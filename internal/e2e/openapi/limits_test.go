package openapi_test

import "strings"

// limits uses up every limit and then asks for everything.
func (s *service) limits(n *newcomers) {
	s.exhaust(call{method: "GET", url: s.API + "/profile", token: n.token})
	for _, o := range s.targets("accessToken", "/") {
		s.do(call{method: o.method, url: o.url, token: n.token, want: 429})
	}
	for _, path := range []string{"token", "revoke", "introspect", "device/authorize", "register"} {
		s.exhaust(call{method: "POST", url: s.API + "/oauth/" + path, basic: [2]string{syncID, "wrong"}, form: form("token", "x")})
	}
	s.exhaust(call{method: "GET", url: s.API + "/.well-known/jwks.json"})
	for _, path := range []string{"/.well-known", "/developer", "/operator", "/openapi.yaml"} {
		for _, o := range s.targets("", path) {
			s.do(call{method: o.method, url: o.url, as: n.dev, want: 429})
		}
	}
	s.exhaust(call{method: "POST", url: s.App + "/login", form: form("email", "ada@example.com", "password", "wrong")})
	s.exhaust(call{method: "GET", url: s.App + "/login"})
	for _, o := range s.targets("", "/") {
		if strings.HasPrefix(o.url, s.App) && o.Responses.Status(429) != nil {
			s.do(call{method: o.method, url: o.url, want: 429})
		}
	}
}
