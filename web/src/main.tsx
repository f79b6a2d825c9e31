import '@patternfly/react-core/dist/styles/base.css'
import './app.css'
import './i18n/i18n.ts'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { createCache } from './data/cache.ts'
import { startCodeSignIn } from './session/code-sign-in.ts'
import { startTheme } from './theme/theme.ts'

startCodeSignIn()
startTheme()

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no element root')
createRoot(root).render(<StrictMode><App cache={createCache()} /></StrictMode>)
