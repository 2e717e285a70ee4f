import type { Scenario } from '../scenario.ts'
import { contextScenarios } from './context.ts'
import { firstScenarios } from './first.ts'
import { mediaScenarios } from './media.ts'
import { teamScenarios } from './teams.ts'

/** The playground's scenarios, in display order. */
export const scenarios: readonly Scenario[] = [...firstScenarios, ...mediaScenarios, ...teamScenarios, ...contextScenarios]
