/** Calls a function at most once in an interval: at once, and again at its end if it was requested meanwhile. */
export function throttled(call: () => void, interval: number): () => void {
  let waiting: ReturnType<typeof setTimeout> | undefined
  let requested = false
  return () => {
    if (waiting !== undefined) {
      requested = true
      return
    }
    call()
    const next = () => {
      waiting = undefined
      if (!requested) return
      requested = false
      call()
      waiting = setTimeout(next, interval)
    }
    waiting = setTimeout(next, interval)
  }
}
