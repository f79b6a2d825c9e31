import { createStore, useStore } from '../store.ts'
import { newDraft, type Draft } from './draft.ts'

const storageKey = 'refit-draft'

/** The draft, and the check that was made of it. */
interface Kept {
  draft: Draft
  check: string
}

const kept = createStore<Kept>(load())

/** The draft that is being edited. It outlives the tab: closing the browser loses nothing. */
export function useDraft() {
  return useStore(kept)
}

export function currentDraft(): Kept {
  return kept.get()
}

/** Keeps a draft. Its check is empty until there is one. */
export function keepDraft(draft: Draft, check = '') {
  kept.set({ draft, check })
  try {
    localStorage.setItem(storageKey, JSON.stringify(kept.get()))
  } catch {
    // Without storage, the draft ends with the page.
  }
}

export function changeDraft(change: Partial<Draft>) {
  keepDraft({ ...kept.get().draft, ...change })
}

/** Forgets the draft, as after the start of its upgrade. */
export function clearDraft() {
  kept.set({ draft: newDraft(), check: '' })
  try {
    localStorage.removeItem(storageKey)
  } catch {
    // There was none.
  }
}

function load(): Kept {
  const empty = { draft: newDraft(), check: '' }
  try {
    const value = JSON.parse(localStorage.getItem(storageKey) ?? 'null') as Partial<Kept> | null
    // What another version of the page has kept may lack fields.
    if (!value?.draft || !Array.isArray(value.draft.pools) || value.draft.pools.length === 0) return empty
    return { draft: { ...empty.draft, ...value.draft }, check: value.check ?? '' }
  } catch {
    return empty
  }
}
