import { statusOf } from '../api/problem.ts'
import { createStore } from '../store.ts'
import { signIn } from './api.ts'
import { takeCode } from './fragment.ts'

type CodeSignIn = { state: 'none' | 'pending' | 'succeeded' } | { state: 'failed'; /** Empty for a code that is not valid. */ reason: string }

/** The sign-in with the code in the address with which the page was opened. */
export const codeSignIn = createStore<CodeSignIn>({ state: 'none' })

/** Uses the code in the address, if it has one. This runs before anything is rendered. */
export function startCodeSignIn() {
  const code = takeCode(window.location, window.history)
  if (code === undefined) return
  codeSignIn.set({ state: 'pending' })
  signIn({ code }).then(
    () => codeSignIn.set({ state: 'succeeded' }),
    (error: Error) => codeSignIn.set({ state: 'failed', reason: statusOf(error) === 401 ? '' : error.message }),
  )
}
