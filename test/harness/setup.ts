import { inject, vi } from 'vitest'

globalThis.__BASE_URL__ = inject('baseUrl')
// Files of the Node project share a process. One that failed may have left it without a clock, and the next would wait for ever.
vi.useRealTimers()
