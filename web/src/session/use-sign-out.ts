import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { clearDraft } from '../wizard/draft-store.ts'
import { signOut } from './api.ts'
import { session } from './session.ts'

/** Returns what signs the user out, and removes everything that the page has read. */
export function useSignOut() {
  const cache = useQueryClient()
  const navigate = useNavigate()
  return () => void signOut().then(() => {
    session.set('ended')
    cache.clear()
    clearDraft()
    void navigate('/sign-in')
  }, () => void 0)
}
