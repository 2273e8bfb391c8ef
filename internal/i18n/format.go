package i18n

import (
	"strconv"
	"time"

	"golang.org/x/text/number"
)

// Number formats a whole number with the language's separators.
func (l Locale) Number(n int64) string {
	if 0 <= n && n < 1000 {
		return strconv.FormatInt(n, 10) // what nothing separates, as in most rows
	}
	return l.printer.Sprint(number.Decimal(n))
}

// Percent formats a share of one, such as 0.25, as 25%.
func (l Locale) Percent(share float64) string {
	return l.printer.Sprint(number.Percent(share, number.MaxFractionDigits(1)))
}

// Bytes formats a size with a binary unit and at most one decimal.
func (l Locale) Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	size, unit := float64(n), 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	return l.printer.Sprint(number.Decimal(size, number.MaxFractionDigits(1))) + " " + units[unit]
}

// Duration formats how long something took or may take: 340 ms, 2.5 s, 3 min.
func (l Locale) Duration(d time.Duration) string {
	decimal := func(v float64) string { return l.printer.Sprint(number.Decimal(v, number.MaxFractionDigits(1))) }
	switch {
	case d < time.Second:
		return l.T("time.milliseconds", "n", d.Milliseconds())
	case d < time.Minute:
		return l.T("time.seconds", "n", decimal(d.Seconds()))
	case d < time.Hour:
		return l.T("time.minutes", "n", decimal(d.Minutes()))
	}
	return l.T("time.hours", "n", decimal(d.Hours()))
}

// Date formats the day of t in t's own zone.
func (l Locale) Date(t time.Time) string { return t.Format(l.T("time.date")) }

// DateTime formats the day and minute of t with its zone.
func (l Locale) DateTime(t time.Time) string { return t.Format(l.T("time.datetime")) }

// Ago says how long before or after now t is: "3 days ago", "in 2 hours",
// "just now"; beyond a month it is the date.
func (l Locale) Ago(t, now time.Time) string {
	gap, past := now.Sub(t), true
	if gap < 0 {
		gap, past = -gap, false
		if gap >= 24*time.Hour {
			gap = gap.Round(time.Hour) // what was just made to last 7 days ends in 7 days
		}
	}
	var unit string
	var n int
	switch {
	case gap < time.Minute:
		return l.T("time.now")
	case gap < time.Hour:
		unit, n = "minutes", int(gap/time.Minute)
	case gap < 24*time.Hour:
		unit, n = "hours", int(gap/time.Hour)
	case gap < 30*24*time.Hour:
		unit, n = "days", int(gap/(24*time.Hour))
	default:
		return l.Date(t)
	}
	if past {
		return l.N("time.past."+unit, n)
	}
	return l.N("time.future."+unit, n)
}
