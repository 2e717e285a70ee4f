import { answer } from './agent.js'

export const POST = ({ request }) => answer(request)
