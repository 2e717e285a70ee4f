import { describe, expect, it } from 'vitest'
import { memorySessionStore } from '../../src/session/index.ts'
import { sessionStoreSuite } from '../../src/testing/index.ts'

sessionStoreSuite({ describe, it, expect }, { name: 'memorySessionStore', create: memorySessionStore })
