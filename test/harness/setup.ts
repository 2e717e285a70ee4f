import { inject } from 'vitest'

globalThis.__BASE_URL__ = inject('baseUrl')
