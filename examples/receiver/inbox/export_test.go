package inbox

// ParseDelivery is parseDelivery.
func ParseDelivery(body []byte) (Event, error) { return parseDelivery(body) }
