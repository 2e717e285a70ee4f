import { answer } from './agent.js'

export const POST = answer
