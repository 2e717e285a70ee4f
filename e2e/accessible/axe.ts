import AxeBuilder from '@axe-core/playwright'
import type { Page } from 'playwright/test'

/** What axe finds, in the light theme, and what the dark one changes: colours. */
export async function violations(page: Page, within = 'html'): Promise<string[]> {
  const axe = () => new AxeBuilder({ page }).include(within).setLegacyMode()
  const light = await axe().analyze()
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await axe().withRules(['color-contrast']).analyze()
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light.violations, ...dark.violations].flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${target.join(' ')} ${failureSummary.replace(/\s+/g, ' ')}`),
  )
}
