package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"capstore/internal/fault"
	"capstore/internal/ops"
)

// writeEvents tells each event as it happens. What breaks a stream that has
// begun is its last event, error, with the fault.
func writeEvents(w io.Writer, events ops.Events) error {
	err := events(func(h ops.Happening) error { return writeEvent(w, h) })
	if err == nil {
		return nil
	}
	f := fault.From(err)
	told := writeEvent(w, ops.Happening{Name: "error", Data: map[string]string{"code": f.Code, "detail": f.Message, "action": f.Action}})
	if f.Kind == fault.Internal && told == nil {
		return err // for the log; the reader knows that there is no more
	}
	return nil
}

func writeEvent(w io.Writer, h ops.Happening) error {
	data, err := json.Marshal(h.Data)
	if err != nil {
		return fmt.Errorf("api: encode event %s: %w", h.Name, err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "event: %s\n", h.Name)
	if h.ID != "" {
		fmt.Fprintf(&out, "id: %s\n", h.ID)
	}
	fmt.Fprintf(&out, "data: %s\n\n", data)
	if _, err := w.Write(out.Bytes()); err != nil {
		return err
	}
	if rw, ok := w.(http.ResponseWriter); ok {
		return http.NewResponseController(rw).Flush()
	}
	return nil
}
