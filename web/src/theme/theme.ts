import { createStore } from '../store.ts'

export type Theme = 'light' | 'dark'

const storageKey = 'refit-theme'
const darkClass = 'pf-v6-theme-dark'
const systemDark = window.matchMedia('(prefers-color-scheme: dark)')

export const theme = createStore<Theme>('light')

/** Applies the theme that the user chose, or else that of the system, and follows the latter. */
export function startTheme() {
  apply(chosen() ?? systemTheme())
  systemDark.addEventListener('change', () => apply(chosen() ?? systemTheme()))
}

export function chooseTheme(next: Theme) {
  try {
    localStorage.setItem(storageKey, next)
  } catch {
    // Without storage, the choice ends with the page.
  }
  apply(next)
}

function apply(next: Theme) {
  document.documentElement.classList.toggle(darkClass, next === 'dark')
  theme.set(next)
}

function chosen(): Theme | undefined {
  try {
    const value = localStorage.getItem(storageKey)
    return value === 'light' || value === 'dark' ? value : undefined
  } catch {
    return undefined
  }
}

function systemTheme(): Theme {
  return systemDark.matches ? 'dark' : 'light'
}
