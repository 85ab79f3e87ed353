
// The explorer as a module of its own, which holds its content: a host calls the default export,
// a plain page `mount(element)`.
const content = CONTENT;
const alone = { get: (name) => content[name], set() {}, save_changes() {}, on() {} };
export const mount = (el) => rendering(BIND)({ model: alone, el });
export default { render: ({ el }) => mount(el) };
