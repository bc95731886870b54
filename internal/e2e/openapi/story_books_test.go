package openapi_test

import "strings"

// key names a write.
func key(name string) map[string]string { return map[string]string{"Idempotency-Key": name} }

func (s *service) books(n *newcomers) {
	create := func(path string, body any) reply {
		s.t.Helper()
		return s.do(call{method: "POST", url: s.API + path, token: n.token, json: body, want: 201})
	}
	read := func(path string, want int) reply {
		s.t.Helper()
		return s.do(call{method: "GET", url: s.API + path, token: n.token, want: want})
	}
	customer := create("/customers", map[string]any{"name": "Corner Bakery", "email": "office@bakery.example"}).text("id")
	create("/customers", map[string]any{"name": "No address"})
	supplier := create("/suppliers", map[string]any{"name": "Mill & Sons", "email": nil}).text("id")
	invoice := create("/invoices", map[string]any{"number": "1", "currency": "EUR", "total": 11900, "customerId": customer}).text("id")
	create("/invoices/bulk-import", map[string]any{"invoices": []any{map[string]any{"number": "2", "currency": "EUR", "total": 0}}})
	payment := create("/payments", map[string]any{"invoiceId": invoice, "amount": 4000, "currency": "EUR"}).text("id")
	create("/payments", map[string]any{"invoiceId": invoice, "amount": 7900, "currency": "EUR"})
	bank := create("/accounts", map[string]any{"code": "12", "name": "Bank", "type": "asset"}).text("id")
	rent := create("/accounts", map[string]any{"code": "42", "name": "Rent", "type": "expense"}).text("id")
	lines := []any{map[string]any{"accountId": rent, "debit": 100}, map[string]any{"accountId": bank, "credit": 100, "debit": 0}}
	entry := create("/journal-entries", map[string]any{"date": "2026-09-01", "currency": "EUR", "lines": lines}).text("id")

	for _, one := range []string{"/customers", "/suppliers", "/invoices", "/payments", "/accounts", "/journal-entries"} {
		page := read(one+"?limit=1", 200)
		if next, ok := page.get("nextCursor").(string); ok {
			read(one+"?limit=100&after="+next, 200)
		}
		read(one+"?limit=101", 400)
	}
	for _, one := range []string{"/customers/" + customer, "/suppliers/" + supplier, "/invoices/" + invoice, "/payments/" + payment, "/accounts/" + bank, "/journal-entries/" + entry, "/profile"} {
		read(one, 200)
	}
	s.do(call{method: "PATCH", url: s.API + "/accounts/" + rent, token: n.token, json: map[string]any{"name": "Rents", "archived": true}, want: 200})
	s.do(call{method: "PATCH", url: s.API + "/accounts/" + rent, token: n.token, json: map[string]any{"code": "12"}, want: 400})
	s.do(call{method: "DELETE", url: s.API + "/payments/" + payment, token: n.token, want: 204})

	// The same write twice is one; the key of another is refused.
	for _, write := range []struct {
		body any
		want int
	}{{map[string]any{"name": "Twice"}, 201}, {map[string]any{"name": "Twice"}, 201}, {map[string]any{"name": "Other"}, 422}} {
		s.do(call{method: "POST", url: s.API + "/customers", token: n.token, header: key("one"), json: write.body, want: write.want})
	}

	// What gates refuse: a plan, a permission, a version.
	s.do(call{method: "GET", url: s.API + "/invoices", token: n.token, header: map[string]string{"Service-Version": "2025-06-01"}, want: 400})
	s.do(call{method: "GET", url: s.API + "/invoices", token: n.token, header: map[string]string{"Service-Version": "2026-01-15"}, want: 200})
	s.dev("/permissions", map[string]any{"businessId": "biz_bakery", "userId": "usr_ada", "permissions": []string{"apps.install"}})
	refused := s.do(call{method: "POST", url: s.API + "/accounts", token: n.token, json: map[string]any{"code": "9", "name": "No", "type": "asset"}, want: 403})
	if refused.text("code") != "PERMISSION_REQUIRED" {
		s.t.Errorf("%s", refused.body)
	}
	s.dev("/permissions", map[string]any{"businessId": "biz_bakery", "userId": "usr_ada", "permissions": nil})
}

func (s *service) appData(n *newcomers) {
	invoice := s.do(call{method: "GET", url: s.API + "/invoices", token: n.token, want: 200}).text("data.0.id")
	put := func(want int, key string, value any) reply {
		s.t.Helper()
		return s.do(call{method: "PUT", url: s.API + "/app-data", token: n.token, want: want, json: map[string]any{
			"values": []any{map[string]any{"resourceType": "invoice", "resourceId": invoice, "key": key, "value": value}}}})
	}
	value := put(200, "syncStatus", "synced").text("values.0.id")
	put(400, "syncStatus", "unheard of")
	put(400, "undeclared", true)
	for query, want := range map[string]int{
		"?resourceId=" + invoice: 200, "?resourceIds=" + invoice + ",inv_x&resourceType=invoice&key=syncStatus": 200,
		"": 400, "?resourceIds=" + strings.Repeat("x,", 49) + invoice: 200, "?resourceIds=" + strings.Repeat("x,", 50) + invoice: 400,
	} {
		s.do(call{method: "GET", url: s.API + "/app-data" + query, token: n.token, want: want})
	}
	s.do(call{method: "DELETE", url: s.API + "/app-data/" + value, token: n.token, want: 204})
	s.do(call{method: "DELETE", url: s.API + "/app-data/" + value, token: n.token, want: 404})
	put(200, "syncStatus", "failed")
}

func (s *service) events(n *newcomers) {
	page := s.do(call{method: "GET", url: s.API + "/events?limit=2&types=invoice.created,invoice.paid&types=app.installed", token: n.token, want: 200})
	id := page.text("events.0.id")
	s.do(call{method: "GET", url: s.API + "/events?after=" + id, token: n.token, want: 200})
	s.do(call{method: "GET", url: s.API + "/events/" + id, token: n.token, want: 200})
	s.do(call{method: "GET", url: s.API + "/events?after=evt_x", token: n.token, want: 400})
	s.do(call{method: "GET", url: s.API + "/events?types=unheard.of", token: n.token, want: 400})
}
