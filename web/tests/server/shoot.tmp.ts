import { chromium } from '@playwright/test'
import { chromium as options } from '/work/wt/web/web/tests/chromium.ts'
import { Replay } from '/work/wt/web/web/tests/server/replay.ts'
import { scenes } from '/work/wt/web/web/tests/pages/scenes.ts'
const shots: [string, keyof typeof scenes, string][] = [
  ['cluster-running','running','/'],['cluster-idle','idle','/'],['upgrade-running','running','/operations/to-v1-36-3'],['upgrade-stalled','stalled','/operations/to-v1-36-3'],
  ['upgrade-blocked','drainBlocked','/operations/to-v1-36-3'],['upgrade-large','large','/operations/to-v1-36-3'],['upgrade-outage','outageExpected','/operations/to-v1-36-3'],
  ['upgrade-unexpected','outageUnexpected','/operations/to-v1-36-3'],['upgrade-approval','awaitingApproval','/operations/to-v1-36-3'],['upgrade-viewer','viewer','/operations/to-v1-36-3'],
  ['node-failed','stalled','/nodes/worker-1'],['node-blocked','drainBlocked','/nodes/worker-1'],['node-active','outageExpected','/nodes/cp-2'],['sign-in','running','/sign-in'],
]
const only = process.argv.slice(2)
const browser = await chromium.launch(options)
for (const [name, scene, path] of shots) {
  if (only.length && !only.includes(name)) continue
  const replay = new Replay(scenes[scene]())
  const url = await replay.start()
  for (const [colorScheme, width] of [['light',1280],['dark',390],...(process.env.ALL ? [['dark',1280],['light',390]] : [])] as ['light'|'dark', number][]) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: width > 800 ? 1500 : 2600 } })
    page.on('console', (m) => { if (m.type() === 'error') console.log(name, m.text()) })
    page.on('pageerror', (e) => console.log(name, e.message))
    await page.goto(url + path); await page.waitForSelector('h1'); await page.waitForTimeout(2500)
    await page.screenshot({ path: `/tmp/shots/${name}-${colorScheme}-${width}.png`, fullPage: false })
    await page.close()
  }
  await replay.stop()
}
await browser.close()
