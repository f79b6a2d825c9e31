// Package clusterupgrade carries out what upgrade/plan decides about an operation. It decides nothing itself, and remembers nothing that is not in an object:
// one that was just started goes on at once.
//
//  1. Take the lead: raise the operation's epoch, so that whoever led before can claim nothing more.
//  2. Look at the cluster, check it as long as nothing was begun, and plan.
//  3. Ask plan.Next what to do. If that disrupts something and what it was decided on is not fresh, read the cluster anew and ask again.
//  4. Do it, each act behind its own fence: what it was decided on must still be so.
//  5. Tell: conditions, what is being done or waited for, Events.
package clusterupgrade
