import { answer } from './agent.js'

export const action = ({ request }) => answer(request)
