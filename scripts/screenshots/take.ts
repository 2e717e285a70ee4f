import type { Browser, BrowserContextOptions, Page } from 'playwright'
import { openPage, settle } from './steps.ts'
import type { UnusedRules } from './unused-rules.ts'
import type { View } from './view.ts'

interface Size {
  width: number
  height: number
}

/** Which of the pictures of a view are taken; all, where nothing is said. */
export interface Choice {
  width?: number | undefined
  theme?: string | undefined
}

/** What the tabs of a phone are called. */
const tabs = { sessions: 'Conversations', inspector: 'Inspector' } as const

const themes = ['light', 'dark'] as const
const wide: Size = { width: 1440, height: 900 }

/** What is looked at on each device. Everything is made ready on a wide page: how to get there is the same for all sizes then. */
const devices: readonly { sizes: readonly Size[]; options: BrowserContextOptions; names?: readonly string[] }[] = [
  { sizes: [wide, { width: 1024, height: 768 }, { width: 820, height: 1180 }], options: {} },
  { sizes: [{ width: 390, height: 844 }], options: { isMobile: true, hasTouch: true, deviceScaleFactor: 2 } },
  { sizes: [{ width: 2560, height: 1440 }], options: {}, names: ['tools', 'opening'] },
  // 1440 × 900 at 200 %.
  { sizes: [{ width: 720, height: 450 }], options: { deviceScaleFactor: 2 }, names: ['opening', 'tools', 'settings-scripted'] },
]

/** Takes a view at all sizes in both themes: `<folder>/<view>-<width>-<theme>.png`. */
export async function takeView(
  browser: Browser,
  address: string,
  view: View,
  folder: string,
  choice: Choice,
  rules: UnusedRules,
): Promise<void> {
  for (const { sizes: all, options, names } of devices) {
    const sizes = all.filter(({ width }) => choice.width === undefined || width === choice.width)
    if (sizes.length === 0 || (names !== undefined && !names.includes(view.name))) continue
    await using made = new AsyncDisposableStack()
    const { serviceWorkers = 'allow' } = view
    const context = await browser.newContext({ viewport: wide, reducedMotion: 'reduce', serviceWorkers, ...options })
    made.defer(() => context.close())
    const page = await context.newPage()
    await openPage(page, address)
    await view.make(page, made)
    await rules.look(page)
    for (const size of sizes) {
      await page.setViewportSize(size)
      await show(page, view.pane, size.width)
      for (const theme of themes) {
        if (choice.theme !== undefined && theme !== choice.theme) continue
        await page.emulateMedia({ colorScheme: theme })
        await settle(page, 50)
        await page.screenshot({ path: `${folder}/${view.name}-${size.width}-${theme}.png`, animations: 'disabled' })
      }
    }
  }
}

/** Brings the pane to sight that a narrow page shows only when it is asked. */
async function show(page: Page, pane: View['pane'], width: number): Promise<void> {
  if (pane === 'inspector' && width > 720 && width <= 1100) {
    // Of a width before, it may be open already.
    const closed = page.locator('.panes[data-drawer="closed"]')
    if ((await closed.count()) > 0) await page.locator('.drawer-toggle button').click()
  }
  if (pane !== undefined && width <= 720) await page.locator('.pane-tabs').getByRole('button', { name: tabs[pane] }).click()
}
