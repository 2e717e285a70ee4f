import type { Page } from 'playwright'

/** Something to be looked at, by its name. */
export interface View {
  name: string
  /** What it is about, where the page has room for one pane only. */
  pane?: 'sessions' | 'inspector'
  /** What the service worker keeps would answer in place of a server that is gone: then it is not there. */
  serviceWorkers?: 'block'
  /** From the empty page to what is to be seen. What `made` is given ends when the pictures are taken. */
  make(page: Page, made: AsyncDisposableStack): Promise<unknown>
}
