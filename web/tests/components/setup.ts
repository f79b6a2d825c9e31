import '@patternfly/react-core/dist/styles/base.css'
import '../../src/app.css'
import '../../src/i18n/i18n.ts'
import { beforeEach } from 'vitest'
import { heartbeat, serveLink } from '../../src/live/links.ts'
import { session } from '../../src/session/session.ts'

beforeEach(() => {
  serveLink.set({ state: 'live' })
  heartbeat.set(undefined)
  session.set('active')
})
