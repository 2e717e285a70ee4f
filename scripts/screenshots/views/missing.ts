import type { Page } from 'playwright'
import { click, finish, settings, settle, until } from '../steps.ts'
import type { View } from '../view.ts'

/** As after a new deployment: who asks for files of these names gets none. */
async function without(page: Page, ...names: string[]): Promise<void> {
  for (const name of names) await page.route(`**/assets/${name}-*`, (route) => route.abort())
  await page.reload()
}

/** Parts of the page that cannot be had. */
export const missing: readonly View[] = [
  {
    name: 'missing-agent',
    serviceWorkers: 'block',
    async make(page) {
      await without(page, 'start')
      await until(page, '[data-testid=load-failure]')
      await settle(page)
    },
  },
  {
    name: 'missing-cards',
    serviceWorkers: 'block',
    async make(page) {
      await without(page, 'conversation-file')
      await finish(page, 'Failure and retry')
    },
  },
  {
    name: 'missing-panes',
    serviceWorkers: 'block',
    async make(page) {
      await without(page, 'sessions-pane', 'inspector')
      await finish(page, 'Text')
    },
  },
  {
    name: 'missing-dialog',
    serviceWorkers: 'block',
    async make(page) {
      await without(page, 'settings-dialog')
      await settings(page)
      await until(page, '[data-testid=load-failure]')
    },
  },
  {
    name: 'missing-export',
    serviceWorkers: 'block',
    async make(page) {
      await finish(page, 'Text')
      await page.route('**/assets/**', (route) => route.abort('failed'))
      await page.getByLabel('Export as').selectOption('markdown')
      await until(page, '[data-testid=notice]')
      await click(page.getByRole('textbox', { name: 'Message', exact: true }))
    },
  },
]
