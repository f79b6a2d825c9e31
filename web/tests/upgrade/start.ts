import { expect, type Page } from '@playwright/test'

/** Goes through the wizard as a person does, and starts the upgrade. */
export async function startUpgrade(page: Page, version: string) {
  await page.getByRole('link', { name: 'Prepare an upgrade' }).click()
  await page.getByRole('radio', { name: version }).click()
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await ready(page)
  await page.getByRole('button', { name: 'Next: plan' }).click()
  await page.getByRole('button', { name: `Start the upgrade to ${version}` }).click()
  await expect(page).toHaveURL(/\/operations\//, { timeout: 120_000 })
}

/** Checks again until nothing blocks: the hosts of a new installation have not reported all facts yet. */
async function ready(page: Page) {
  const again = page.getByRole('button', { name: 'Check again' })
  await expect(async () => {
    await expect(again).toBeEnabled({ timeout: 60_000 })
    if (await page.getByRole('heading', { name: /The cluster is ready for the upgrade/ }).isVisible()) return
    console.log((await page.getByRole('main').innerText()).slice(0, 3000))
    await again.click()
    throw new Error('findings block the upgrade')
  }).toPass({ timeout: 180_000, intervals: [5_000] })
}
