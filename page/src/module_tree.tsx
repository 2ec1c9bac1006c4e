// The modules of the model, opened one by one.
import { count, shape } from './format';
import type { Module } from './types';

const nameOf = (module: Module): string => module.path.split('.').at(-1) || 'model';

function Parameters({ of }: { of: Module }) {
  return (
    <ul class="parameters">
      {of.parameters.map((p) => <li key={p.name}><span class="mono">{p.name}</span> <span class="about">{shape(p.shape)}</span></li>)}
    </ul>
  );
}

function Branch({ module, open }: { module: Module; open: boolean }) {
  const line = <><b>{nameOf(module)}</b> <span class="about">{module.kind}</span> <span class="count">{module.count > 0 ? count(module.count) : ''}</span></>;
  if (module.children.length === 0 && module.parameters.length === 0) return <p class="leaf">{line}</p>;
  return (
    <details open={open}>
      <summary>{line}</summary>
      {module.parameters.length > 0 && <Parameters of={module} />}
      {module.children.map((child) => <Branch key={child.path} module={child} open={false} />)}
    </details>
  );
}

export const ModuleTree = ({ root }: { root: Module }) => <div class="module-tree"><Branch module={root} open /></div>;
