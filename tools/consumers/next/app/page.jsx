'use client';

import { useEffect, useState } from 'react';
import { compute } from '../../compute.mjs';

export default function Page() {
  const [result, setResult] = useState('');
  useEffect(() => {
    void compute(location.search.slice(1).split(',')).catch(String).then(setResult);
  }, []);
  return <output>{result}</output>;
}
