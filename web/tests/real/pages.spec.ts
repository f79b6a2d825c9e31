import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { expect, test } from '../pages/fixture.ts'
import { overflowOf } from '../pages/overflow.ts'
import { change, newCode, spec, tokens } from './cluster.ts'

const upgrade = '/operations/op'
const screenshots = process.env['REFIT_SCREENSHOTS']

async function signIn(page: Page, token: string, path = upgrade) {
  await page.goto(path)
  await page.getByRole('textbox', { name: 'Token' }).fill(token)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByText('live', { exact: true })).toBeVisible()
}

function figure(name: string, since: number, most: number) {
  const seconds = (Date.now() - since) / 1000
  console.log(`figure ${name} ${seconds.toFixed(2)} s`)
  expect(seconds, name).toBeLessThanOrEqual(most)
}

test('a one-time code signs in once, and every page of the server is accessible', async ({ page, baseURL }) => {
  const code = await newCode()
  await page.goto(`/#code=${code}`)
  await expect(page.getByRole('heading', { name: 'Cluster test' })).toBeVisible()
  expect(page.url()).toBe(`${baseURL}/`)
  for (const path of ['/', upgrade, '/nodes/worker-1']) {
    await page.goto(path)
    await expect(page.getByText('live', { exact: true })).toBeVisible()
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const { violations } = await new AxeBuilder({ page }).analyze()
        expect(violations.map(({ id }) => id), `${path} ${colorScheme} ${width}`).toEqual([])
        const name = `real${path.replaceAll('/', '-')}-${colorScheme}-${width}.png`
        if (screenshots) await page.screenshot({ path: `${screenshots}/${name}` })
      }
      expect(await overflowOf(page), `${path} ${width}`).toEqual([])
    }
  }
  const again = await page.context().browser()?.newContext({ ignoreHTTPSErrors: true, ...(baseURL && { baseURL }) })
  const second = await again?.newPage()
  await second?.goto(`/#code=${code}`)
  await expect(second?.getByText('The one-time code is not valid any more') ?? page.locator('none')).toBeVisible()
  await again?.close()
})

test('a viewer reads, and cannot change the upgrade', async ({ page }) => {
  await signIn(page, tokens.viewer)
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toHaveAttribute('aria-disabled', 'true')
  await expect(page.getByText(/You do not have the permission: patch clusterupgrades/)).toBeVisible()
})

test('an operator pauses and resumes the upgrade', async ({ page }) => {
  await signIn(page, tokens.operator)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await expect(page.getByText('Pause was accepted')).toBeVisible()
  expect((await spec()).paused).toBe(true)
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await expect(page.getByText('Resume was accepted')).toBeVisible()
  expect((await spec()).paused ?? false).toBe(false)
})

test('a change of the object is on the page within a second', async ({ page }) => {
  await signIn(page, tokens.viewer)
  const since = await change('stall')
  await expect(page.getByRole('heading', { name: /worker-1 failed at swap-kubelet/ })).toBeVisible()
  figure('web_object_to_page', since, 5)
  await change('run')
  await expect(page.getByRole('heading', { name: /worker-1 failed at swap-kubelet/ })).toBeHidden()
})

test('an API server that hangs is on the page, the data has its age, and both end', async ({ page }) => {
  await signIn(page, tokens.operator)
  const frozen = await change('freeze')
  await expect(page.getByRole('heading', { name: /The API server is unreachable/ })).toBeVisible()
  figure('web_api_down', frozen, 10)
  await expect(page.getByText(/last known, \d+ s ago/).first()).toBeVisible()
  await expect(page.getByText('live', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toHaveAttribute('aria-disabled', 'true')
  const thawed = await change('thaw')
  await expect(page.getByRole('heading', { name: /The API server is unreachable/ })).toBeHidden()
  figure('web_api_back', thawed, 10)
  await expect(page.getByText(/last known/)).toHaveCount(0)
})
