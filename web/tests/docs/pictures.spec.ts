import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { reports } from '../documents/checks.ts'
import { expect, test } from '../pages/fixture.ts'
import type { scenes } from '../pages/scenes.ts'
import type { Replay } from '../server/replay.ts'

const directory = fileURLToPath(new URL('../../../docs/images/', import.meta.url))
const mostBytes = 150 * 1024

interface Picture {
  name: string
  scene: keyof typeof scenes
  path: string
  height: number
  dark?: boolean
  prepare?: (page: Page, server: Replay) => Promise<void>
}

const upgrade = '/operations/to-v1-36-3'

const pictures: Picture[] = [
  { name: 'serve-cluster', scene: 'idle', path: '/', height: 1130 },
  {
    name: 'serve-preflight', scene: 'idle', path: '/upgrade/welcome?release=kubernetes-v1.36.3', height: 980,
    prepare: async (page, { checks }) => {
      checks.report = reports.blocked
      await page.getByRole('button', { name: 'Next: configuration' }).click()
      await page.getByRole('button', { name: 'Check the cluster' }).click()
      await expect(page.getByRole('heading', { level: 1, name: 'Preflight checks' })).toBeVisible()
    },
  },
  { name: 'serve-upgrade', scene: 'running', path: upgrade, height: 1130, dark: true },
  { name: 'serve-result', scene: 'aborted', path: upgrade, height: 1020 },
]

for (const { name, scene, path, height, dark, prepare } of pictures) {
  test(`the picture ${name}`, async ({ page, replay }) => {
    const { server, url } = await replay(scene)
    await page.setViewportSize({ width: 1280, height })
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' })
    await page.goto(url + path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await prepare?.(page, server)
    await expect(page.locator('[role=status]').filter({ hasText: 'Loading' })).toHaveCount(0)
    const file = `${directory}${name}.png`
    await page.screenshot({ path: file })
    expect(statSync(file).size).toBeLessThanOrEqual(mostBytes)
  })
}
