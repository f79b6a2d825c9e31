import { createStore, useStore } from '../store.ts'

const announcement = createStore('')

/** Lets a screen reader read a text out. */
export function announce(text: string) {
  announcement.set(text)
}

export function Announcer() {
  return <div role="status" aria-live="polite" className="pf-v6-screen-reader">{useStore(announcement)}</div>
}
