package openapi_test

import "strings"

func (s *service) refusedConsole(n *newcomers) {
	s.nextMinute()
	suspended := s.person("usr_ben", "biz_bakery")
	s.dev("/users/usr_ben/status", map[string]any{"status": "SUSPENDED"})
	ended := s.do(call{method: "POST", url: s.API + "/developer/apps", as: n.dev, want: 201, json: map[string]any{
		"name": "Ended", "type": "CONFIDENTIAL", "redirectUris": []string{"https://ended.example"}, "scopes": []string{"invoices:read"}}})
	s.dev("/apps/"+ended.text("clientId")+"/status", map[string]any{"status": "DEACTIVATED"})
	for _, o := range s.targets("session", "/developer") {
		c := call{method: o.method, url: o.url}
		try := func(want int, change func(*call)) {
			s.t.Helper()
			changed := c
			changed.want = want
			change(&changed)
			s.do(changed)
		}
		try(401, func(*call) {})
		try(401, func(c *call) { c.token, c.as = "pk_at_unknown", n.dev })
		try(403, func(c *call) { c.token, c.as = n.token, n.dev })
		try(400, func(c *call) { c.token, c.header = n.token, map[string]string{"Service-Version": "1999-01-01"} })
		try(403, func(c *call) { c.as = suspended })
		if strings.Contains(o.path, "{appId}") {
			try(0, func(c *call) { c.as = n.cleo })
			try(0, func(c *call) { c.as, c.url = n.dev, strings.Replace(c.url, "app_sync", "nothing", 1) })
		}
		if !o.writes() {
			try(0, func(c *call) { c.as = n.dev; c.url += "?limit=0&days=0" })
			continue
		}
		try(403, func(c *call) { c.as, c.header = n.dev, foreign })
		try(0, func(c *call) { c.as, c.url = n.dev, strings.Replace(c.url, "app_sync", ended.text("id"), 1) })
		switch {
		case o.takes("application/json"):
			try(415, func(c *call) { c.as, c.media, c.body = n.dev, "text/plain", "x" })
			try(413, func(c *call) { c.as, c.media, c.body = n.dev, "application/json", big })
			try(400, func(c *call) { c.as, c.json = n.dev, map[string]any{"unheard": "of"} })
			if len(o.RequestBody.Value.Content["application/json"].Schema.Value.Examples) > 0 && strings.Contains(o.path, "{appId}") {
				try(0, func(c *call) {
					c.as, c.url, c.json = n.dev, strings.Replace(c.url, "app_sync", "nothing", 1), o.example()
				})
			}
		case o.takes("multipart/form-data"):
			try(415, func(c *call) { c.as, c.media, c.body = n.dev, "text/plain", "x" })
			try(413, func(c *call) { c.as, c.media, c.body = n.dev, "multipart/form-data; boundary=x", big })
		}
	}
	for _, o := range s.targets("session", "/") {
		if strings.HasPrefix(o.url, s.App) && o.OperationID != "signOut" {
			s.do(call{method: o.method, url: o.url, as: suspended})
		}
	}
	s.do(call{method: "GET", url: s.App + "/openapi", as: suspended, want: 403})
	s.do(call{method: "GET", url: s.App + "/openapi/shapes", as: suspended, want: 403})
	s.upload(n, "/apps/nothing", "icon", 404)
	nowhere := s.person("usr_ada", "biz_bakery")
	for _, path := range []string{"/login", "/businesses", "/settings/apps/revoke-access", "/settings/apps/uninstall", "/settings/apps/take-over", "/theme", "/oauth/authorize", "/device"} {
		for _, c := range []call{{media: "text/plain", body: "x"}, {media: "application/x-www-form-urlencoded", body: "a;b"},
			{media: "application/x-www-form-urlencoded", body: big}, {header: foreign}} {
			c.method, c.url, c.as = "POST", s.App+path, nowhere
			s.do(c)
		}
	}
	s.do(call{method: "POST", url: s.App + "/embedded/" + syncID + "/session-token", as: nowhere, header: foreign, want: 403})
	s.do(call{method: "POST", url: s.App + "/logout", as: nowhere, header: foreign, want: 403})
	s.dev("/users/usr_ben/status", map[string]any{"status": "ACTIVE"})
}
