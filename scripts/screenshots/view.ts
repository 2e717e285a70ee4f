import type { Page } from 'playwright'

/** Something to be looked at, by its name. */
export interface View {
  name: string
  /** What it is about, where the page has room for one pane only. */
  pane?: 'sessions' | 'inspector'
  /** From the empty page to what is to be seen. */
  make(page: Page): Promise<unknown>
}
