import { useSyncExternalStore } from 'react'

// Ages are computed with the clock of the server: the clock of a browser may be wrong by minutes.
let offset = 0
let current = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function tick() {
  current = Date.now() + offset
  listeners.forEach((listener) => listener())
}

/** What the clock of the server is ahead of that of the browser, in milliseconds. */
export function clockOffset(): number {
  return offset
}

/** Sets the clock by a time that the server has just sent. */
export function setServerTime(now: string) {
  const next = new Date(now).getTime() - Date.now()
  // Smaller differences are the delay of the network. They would let counters jump.
  if (Math.abs(next - offset) > 1000) offset = next
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  timer ??= setInterval(tick, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function snapshot() {
  // The first reader after a pause gets the time, not that of the last tick.
  if (timer === undefined && Math.abs(Date.now() + offset - current) > 500) current = Date.now() + offset
  return current
}

/** The time of the server, which advances each second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, snapshot)
}
