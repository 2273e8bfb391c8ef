package pg_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
)

// TestASilentServerIsGivenUp lets the network swallow all that the server
// says. Nobody is told that the connection is broken, and yet every statement,
// those included that wait for a connection, ends as a fault.
func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	line := newLine(t, pgtest.URL(t))
	db, err := pg.Open(t.Context(), pg.Config{URL: line.url, MaxConns: 2, StatementTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	line.cut()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var n int
			if err := pg.Fault(db.QueryRow(t.Context(), `select 1`).Scan(&n)); !fault.Is(err, fault.Unavailable) {
				t.Errorf("a statement: %v", err)
			}
		})
		wg.Go(func() {
			err := db.Tx(t.Context(), func(context.Context, pgx.Tx) error { return nil })
			if !fault.Is(err, fault.Unavailable) {
				t.Errorf("a transaction: %v", err)
			}
		})
	}
	wg.Wait()
	line.mend()
	if _, err := db.Exec(t.Context(), `select 1`); err != nil {
		t.Errorf("after the silence: %v", err)
	}
}

// line stands between a client and the server of a test.
type line struct {
	url  string
	gate sync.RWMutex // held while the line is cut
	wg   sync.WaitGroup
}

func newLine(t *testing.T, url string) *line {
	t.Helper()
	to, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := socket.Addr().(*net.TCPAddr).Port
	l := &line{url: fmt.Sprintf("host=127.0.0.1 port=%d user=%s password='%s' dbname=%s sslmode=disable", port, to.User, to.Password, to.Database)}
	l.wg.Go(func() {
		for {
			client, err := socket.Accept()
			if err != nil {
				return
			}
			network, address := pgconn.NetworkAddress(to.Host, to.Port)
			server, err := net.Dial(network, address)
			if err != nil {
				_ = client.Close()
				continue
			}
			l.wg.Go(func() { l.carry(server, client) })
			l.wg.Go(func() { l.carry(client, server) })
		}
	})
	t.Cleanup(func() {
		_ = socket.Close()
		l.wg.Wait()
	})
	return l
}

// carry copies until either end closes, and waits while the line is cut.
func (l *line) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || l.pass(to, buffer[:n]) != nil {
			return
		}
	}
}

func (l *line) pass(to net.Conn, part []byte) error {
	l.gate.RLock()
	defer l.gate.RUnlock()
	_, err := to.Write(part)
	return err
}

func (l *line) cut()  { l.gate.Lock() }
func (l *line) mend() { l.gate.Unlock() }
