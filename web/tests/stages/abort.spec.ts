import { expect, test, type Page } from '@playwright/test'
import { signIn, startWithWaiver } from '../steer/waive.ts'

const { REFIT_TOKEN = '', REFIT_VERSION = '', REFIT_WORKER = '' } = process.env
const patient = { timeout: 6 * 60_000 }

// In this order, an upgrade does not rely on what one before it has completed, except for the prefetch.
for (const stage of ['Prefetch', 'Backup', 'Rehearsal', 'ControlPlane', 'Workers']) {
  test(`an upgrade is paused, resumed and aborted at ${stage}`, async ({ page }) => {
    await signIn(page, REFIT_TOKEN)
    await startWithWaiver(page, REFIT_VERSION)
    const current = page.locator('.refit-stages li[aria-current="step"] [id^="stage-"]').first()
    await expect(current).toHaveId(new RegExp(`^stage-${stage}-`), patient)
    const phase = page.locator('.refit-phase')
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await expect(phase).toHaveText('Paused', patient)
    await page.getByRole('button', { name: 'Resume', exact: true }).click()
    await expect(phase).not.toHaveText('Paused', patient)
    await expect(current, 'what an earlier stage did may be verified first').toHaveId(new RegExp(`^stage-${stage}-`), patient)
    console.log(`aborted at ${await current.getAttribute('id')}, ${await phase.innerText()}`)
    await abort(page)
    await expect(phase).toHaveText('Aborted', patient)
    await expect(page.getByRole('button', { name: `Let the drain of ${REFIT_WORKER} continue` })).toHaveCount(0)
  })
}

/** Aborts the upgrade, whose name has to be typed. */
async function abort(page: Page) {
  await page.getByRole('button', { name: 'Abort', exact: true }).click()
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByRole('button', { name: 'Abort the upgrade' })
  await expect(confirm).toBeDisabled()
  await dialog.getByRole('textbox').fill(new URL(page.url()).pathname.split('/').at(-1) ?? '')
  await confirm.click()
}
