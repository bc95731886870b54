package appdata

// CheckValue is what PutValues holds each value to.
var CheckValue = checkValue
