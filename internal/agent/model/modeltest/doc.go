// Package modeltest is a model at the wire: a server of both protocols whose
// answers are written in advance, well or badly. It records what it is asked.
// Tests run the real SDKs against it, and a demonstration can be held with it.
package modeltest
