import { createStore } from '../store.ts'

/**
 * Whether there is a session. After its end the pages stay as they are, and their data is shown with
 * its age until the user signs in again.
 */
export const session = createStore<'unknown' | 'active' | 'ended'>('unknown')

export function sessionEnded() {
  session.set('ended')
}

export function sessionStarted() {
  session.set('active')
}
