package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
)

// assign stores a value of a row where dest points to, as database/sql does. What our
// own statements read comes first, and needs no reflection.
func assign(dest any, value driver.Value) error {
	switch dest := dest.(type) {
	case *string:
		if text, ok := value.(string); ok {
			*dest = text
			return nil
		}
	case *int64:
		if number, ok := value.(int64); ok {
			*dest = number
			return nil
		}
	case *[]byte:
		if data, ok := value.([]byte); ok {
			*dest = data // it is a copy already
			return nil
		}
	case *bool:
		if number, ok := value.(int64); ok && number>>1 == 0 { // what SQLite has instead
			*dest = number == 1
			return nil
		}
	case *sql.NullInt64:
		if number, ok := value.(int64); ok || value == nil {
			*dest = sql.NullInt64{Int64: number, Valid: ok}
			return nil
		}
	case *sql.NullString:
		if text, ok := value.(string); ok || value == nil {
			*dest = sql.NullString{String: text, Valid: ok}
			return nil
		}
	case *any:
		*dest = value
		return nil
	}
	if scanner, ok := dest.(sql.Scanner); ok {
		return scanner.Scan(value)
	}
	to := reflect.ValueOf(dest)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return errors.New("the destination is no pointer")
	}
	return convert(to.Elem(), value)
}

// convert stores a value in a variable of any kind that can hold it. The conversions
// themselves are those of database/sql, through the types that it has for NULL.
func convert(to reflect.Value, value driver.Value) error {
	switch {
	case value == nil && (to.Kind() == reflect.Pointer || to.Kind() == reflect.Slice):
		to.SetZero()
		return nil
	case value == nil:
		return fmt.Errorf("NULL does not fit into %s", to.Type())
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return assign(to.Interface(), value)
	case reflect.TypeOf(value).AssignableTo(to.Type()):
		to.Set(reflect.ValueOf(value))
		return nil
	}
	var err error
	switch {
	case to.CanInt():
		var number sql.NullInt64
		if err = number.Scan(value); err == nil && to.OverflowInt(number.Int64) {
			err = fmt.Errorf("%d does not fit into %s", number.Int64, to.Type())
		}
		to.SetInt(number.Int64)
	case to.CanUint():
		var number sql.Null[uint64]
		if err = number.Scan(value); err == nil && to.OverflowUint(number.V) {
			err = fmt.Errorf("%d does not fit into %s", number.V, to.Type())
		}
		to.SetUint(number.V)
	case to.CanFloat():
		var number sql.NullFloat64
		err = number.Scan(value)
		to.SetFloat(number.Float64)
	case to.Kind() == reflect.Bool:
		var truth sql.NullBool
		err = truth.Scan(value)
		to.SetBool(truth.Bool)
	case to.Kind() == reflect.String:
		var text sql.NullString
		err = text.Scan(value)
		to.SetString(text.String)
	case to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Uint8:
		var data sql.Null[[]byte]
		err = data.Scan(value)
		to.SetBytes(data.V)
	default:
		err = fmt.Errorf("%T does not fit into %s", value, to.Type())
	}
	return err
}
