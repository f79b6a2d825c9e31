// Package object changes objects of a component while it is upgraded, as its recipe demands: it
// freezes resources with an admission policy, touches, patches and recreates objects one by one,
// and waits until they are ready.
//
// Every action can be repeated: what an earlier try has done is not done again.
package object
