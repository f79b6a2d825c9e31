import { expect, test as base, type Page } from '@playwright/test'
import { Replay } from '../server/replay.ts'
import { scenes } from './scenes.ts'

interface Fixtures {
  /** Starts a server with a scene. It ends with the test. */
  replay: (name: keyof typeof scenes) => Promise<{ server: Replay; url: string }>
}

/** A page that fails its test if it breaks its policy, requests another host, or throws. */
export const test = base.extend<Fixtures & { strict: undefined }>({
  replay: async ({}, provide) => {
    const servers: Replay[] = []
    await provide(async (name) => {
      const server = new Replay(scenes[name]())
      servers.push(server)
      return { server, url: await server.start() }
    })
    await Promise.all(servers.map((server) => server.stop()))
  },
  strict: [async ({ page }, provide) => {
    const faults = watch(page)
    await provide(undefined)
    expect(faults, 'errors, violations of the policy and requests to other hosts').toEqual([])
  }, { auto: true }],
})

function watch(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text())) faults.push(message.text())
  })
  page.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') faults.push(`request to ${request.url()}`)
  })
  return faults
}

export { expect }
